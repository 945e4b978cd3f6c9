internal import ReelCore

/// What several sources of an edit have to have in common, and what is made of the rest.
extension TargetChoice {
    /// Throws `.input` for sources that no conversion brings together: pictures of high dynamic range and others, and
    /// interlaced pictures that would have to be scaled, or stand beside progressive ones.
    func refuseMixtures() throws(ReelFailure) {
        let main = index.video.stream
        for source in spec.shownSources where source != spec.mainSource {
            let stream = indexes[source].video.stream
            let names = (main: name(of: spec.mainSource), other: name(of: source))
            guard stream.colour.dynamicRange == main.colour.dynamicRange else {
                throw ReelFailure(.dynamicRangesMixed(source: names.other, main: names.main))
            }
            let interlaced = (main: main.fieldOrder.isInterlaced, other: stream.fieldOrder.isInterlaced)
            guard interlaced.main == interlaced.other, !interlaced.other || stream.fits(main) else {
                throw ReelFailure(.interlacedMixed(source: interlaced.other ? names.other : names.main))
            }
        }
    }

    /// The title of the first clip of a source, which names it.
    func name(of source: Int) -> String {
        spec.edit?.clips.first { $0.source == source }?.title ?? "the video"
    }

    /// Collects diagnostics about other sources whose pictures or sound are converted.
    mutating func checkConversions(to format: OutputFormat) {
        let main = index.video.stream
        for source in spec.shownSources where source != spec.mainSource {
            let stream = indexes[source].video.stream
            let kept = stream.colour.unconverted(to: main.colour)
            if !kept.isEmpty {
                diagnostics.append(
                    .sourceColoursKept(source: name(of: source), from: kept.map(\.from), to: kept.map(\.to)))
            }
            guard !stream.fits(main) else { continue }
            diagnostics.append(
                .sourceConverted(
                    source: name(of: source), from: PictureForm(stream),
                    to: PictureForm(main, in: format),
                    turned: stream.displayMatrix != format.displayMatrix))
        }
    }

    /// Collects diagnostics about tracks of other sources that are converted to the output's sound.
    mutating func checkConversions(to target: AudioTarget) {
        guard let edit = spec.edit, edit.soundtrack == nil else { return }
        let main = indexes[target.source].audio[target.track]
        for source in edit.shownSources where source != target.source {
            let tracks = indexes[source].audio
            guard tracks.indices.contains(target.track) else { continue }
            let (own, form) = (tracks[target.track].form, main.form)
            guard own.rate != form.rate || own.layout != form.layout else { continue }
            diagnostics.append(
                .sourceSoundConverted(source: name(of: source), track: target.track, from: own, to: form))
        }
    }
}

extension AudioTrack {
    fileprivate var form: SoundForm { SoundForm(layout: channelLayout, rate: sampleRate, sample: sampleFormat) }
}

extension PictureForm {
    /// The form of a stream's pictures, in a format of the output if they are fitted into it.
    fileprivate init(_ stream: VideoStream, in format: OutputFormat? = nil) {
        self.init(
            width: format?.width ?? stream.width, height: format?.height ?? stream.height,
            pixelFormat: format?.pixelFormat ?? stream.pixelFormat, matrix: stream.colour.matrix,
            range: stream.colour.range)
    }
}

extension ColourTags {
    /// Transfers that are the same curve (ITU-T H.273 table 3).
    private static let sameCurve: Set<String> = ["bt709", "smpte170m", "bt2020-10", "bt2020-12"]

    /// The stated parts of colours that differ from those of `other` and that libswscale does not convert.
    fileprivate func unconverted(to other: ColourTags) -> [(from: String, to: String)] {
        var parts: [(from: String, to: String)] = []
        if let own = primaries, let shown = other.primaries, own != shown {
            parts.append(("\(own) primaries", "\(shown) primaries"))
        }
        if let own = transfer, let shown = other.transfer, own != shown,
            !ColourTags.sameCurve.isSuperset(of: [own, shown])
        {
            parts.append(("\(own) transfer", "\(shown) transfer"))
        }
        return parts
    }
}
