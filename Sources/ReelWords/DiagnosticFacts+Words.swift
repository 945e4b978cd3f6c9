internal import ReelCore

// Words for the facts of diagnostics, as parts of sentences.

extension Moments {
    /// "at 1.240 s, 1.400 s to 1.480 s": when the frames are shown in the source.
    var words: String {
        let shown = places.map { place in
            let first = Wording.seconds(place.first)
            // The indexes may come from a hostile engine, and their distance overflow.
            return place.frames.upperBound &- 1 == place.frames.lowerBound
                ? first : "\(first) to \(Wording.seconds(place.last))"
        }
        return "at " + shown.joined(separator: ", ") + (more > 0 ? " and \(more) more places" : "")
    }
}

extension DecodingCause {
    func words(codec: String, format: String) -> String {
        switch self {
        case .unproven: "reel is not sure of \(codec) in \(format)"
        case .contradictory: "its timestamps contradict each other"
        case .cutOff: "the file ends in the middle of a packet"
        case .disproved: "its tables and headers do not match what is shown"
        }
    }
}

extension PictureLoss {
    var words: String {
        switch self {
        case .chromaResolution: "fewer chroma samples"
        case .depth: "fewer bits"
        case .colourModel: "another colour model"
        case .alpha: "no transparency"
        case .colours: "fewer colours"
        case .chroma: "no colour"
        }
    }
}

extension PictureExtra {
    /// As a sentence.
    var words: String {
        switch self {
        case .closedCaptions: "the closed captions in the pictures are left out"
        case .activeFormat: "the active format description in the pictures is left out"
        case .timecodes: "the timecodes in the pictures are left out: they would run backwards"
        case .hdr10Plus: "HDR10+ is left out: at most the static metadata of HDR10 is kept"
        case .hdrVivid: "the HDR Vivid metadata is left out"
        case .iccProfile: "the ICC profile of the pictures is left out"
        case .projection: "the projection of the spherical video is left out"
        }
    }
}

extension StreamRefusal {
    /// As a sentence; nil if there is nothing to report.
    var words: String? {
        switch self {
        case .chapterPictures: "it holds pictures of chapters"
        case .emptyCover: "it is a cover without a picture"
        case .notMain(let main): "only stream \(main) is reversed"
        case .subtitlesNotText: "only text subtitles are kept"
        case .encrypted: "it is encrypted"
        case .noDecoder: "this FFmpeg has no decoder for it"
        case .empty: "it is empty"
        case .undecodable: "nothing of it decodes"
        case .impossibleRate(let rate): "\(rate) Hz is not a valid sample rate"
        case .notKept: nil
        }
    }
}

extension SoundForm {
    /// Names what differs from the other format: channels, rate, or the kind of sample.
    func words(beside other: SoundForm) -> String {
        if layout != other.layout, rate != other.rate { return "\(layout) at \(rate) Hz" }
        if layout != other.layout { return layout }
        return rate != other.rate ? "\(rate) Hz" : "samples of \(sample)"
    }
}

extension PictureForm {
    /// "640x480 yuv420p bt709".
    var words: String {
        (["\(width)x\(height)", pixelFormat] + [matrix, range].compactMap(\.self)).joined(separator: " ")
    }
}
