internal import ReelCore

extension EditFlaw {
    /// As a sentence about the place.
    var words: String {
        switch self {
        case .notJSON(let said): "it is not JSON: \(said)"
        case .tooLong(let bytes): "it has more than \(Wording.mebibytes(bytes)), more than any edit"
        case .unknownKey(let known): "an edit has no such key; known are \(Wording.list(known))"
        case .missing: "it is missing"
        case .malformed(let wanted): "it is not \(wanted.words)"
        case .excludes(let key): "it excludes \(key)"
        case .rangeEmpty(let from, let to):
            "\(from.words) is not before to: \(to.words)"
        case .clipCount(let found): "it has \(found) clips, repeats counted; an edit has 1 to \(Edit.mostClips)"
        case .onlyGaps: "no clip has a source"
        case .sourceMissing(let path): "there is no file \(path)"
        case .notTaken(let part, let name): "\(part.words(name)); \(part.remedy)"
        case .timeScalar(let scalar, let name):
            "\(Wording.named("the clip", name)) has the time scalar \(scalar), which means different things in "
                + "different programs; only -1, 0 and 1 are taken: write an edit in a .json file, and give the clip a speed"
        case .unknownSchema(let schema):
            "it has the unknown schema \(schema); write the timeline with a version of OpenTimelineIO from 0.15 to 0.18"
        case .noVideoTrack: "there is no enabled video track"
        case .timelineCount(let found):
            "it has \(found) objects, of which none is the only timeline; write a file for each timeline"
        }
    }
}

extension Position {
    /// "12.345 s", "frame 30", or the timecode.
    var words: String {
        switch self {
        case .seconds(let seconds): Wording.seconds(seconds)
        case .frames(let frames): "frame \(frames)"
        case .timecode(let timecode): timecode.description
        }
    }
}

extension TimecodeFlaw {
    /// As a sentence about the timecode.
    var words: String {
        switch self {
        case .rateUnknown: "the video does not say how many frames a second it has; give seconds (1.5) or frames (36f)"
        case .rateNotDropped(let rate):
            "frames are dropped (;) at 29.97 and 59.94 a second, and the video has \(rate.decimalWords); write : "
                + "instead"
        case .frameTooHigh(let rate):
            "the video has \(rate.decimalWords) frames a second, so that the last number is at most "
                + "\(TimeBase(1, 1).ticks(in: rate, rounding: .nearest) - 1)"
        case .labelDropped:
            "drop-frame timecodes leave out the first numbers of each minute but every tenth; write : instead of ; to "
                + "count all frames"
        }
    }
}

extension Rational {
    /// "25" or "30000/1001".
    var shortWords: String { denominator == 1 ? "\(numerator)" : description }

    /// With at most three decimals: "29.97", "25".
    var decimalWords: String {
        let thousandths = TimeBase(1, 1000).ticks(in: self, rounding: .nearest)
        let (whole, rest) = thousandths.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String("000\(rest)".suffix(3)).reversed().drop { $0 == "0" }.reversed()
        return (thousandths < 0 ? "-" : "") + "\(whole)" + (digits.isEmpty ? "" : "." + String(digits))
    }
}

extension EditForm {
    /// As an object of a sentence.
    var words: String {
        switch self {
        case .object: "an object"
        case .list: "a list"
        case .text: "a text"
        case .flag: "true or false"
        case .time: "a time: seconds as a number, or a text such as \"0:01.5\" or \"15015/30000\""
        case .position:
            "a position: seconds as a number, or a text such as \"0:01.5\", \"15015/30000\", \"36f\" or \"00:00:01:12\""
        case .length:
            "a length above 0: seconds as a number, or a text such as \"0:01.5\", \"36f\" or \"00:00:01:12\""
        case .duration: "a time above 0: seconds as a number, or a text such as \"0:01.5\" or \"15015/30000\""
        case .count(let least, let most): "a whole number from \(least) to \(most)"
        case .ratio(let least, let most):
            "a number from \(least.shortWords) to \(most.shortWords), or a ratio such as \"3/2\""
        case .word(let words): Wording.list(words, last: "or")
        case .number: "a number"
        case .rate: "a rate above 0"
        case .moment: "a time within a billion seconds"
        case .schema(let names): "an object of the schema \(Wording.list(names, last: "or"))"
        }
    }
}

extension TimelinePart {
    /// As a sentence about the part of this name.
    func words(_ name: String) -> String {
        switch self {
        case .transition: "\(Wording.named("the transition", name)) cannot be shown"
        case .nested: "\(Wording.named("the item", name)) is a timeline of its own within this one"
        case .schema(let schema): "\(Wording.named("the object", name)) has the unknown schema \(schema)"
        case .generator: "\(Wording.named("the clip", name)) is made by a generator, and is no file"
        case .imageSequence: "\(Wording.named("the clip", name)) is a sequence of images"
        case .noMedia: "\(Wording.named("the clip", name)) has no media"
        case .remoteMedia(let url): "\(Wording.named("the clip", name)) has media that are no file: \(url)"
        case .missingFile(let path): "\(Wording.named("the clip", name)) needs a file that is not there: \(path)"
        case .effect(let effect): "\(Wording.named("the clip", name)) has the effect \(effect), which is unknown"
        case .otherSound:
            "\(Wording.named("the audio track", name)) has other sound than the clips of the video track"
        case .trimmedTrack: "of \(Wording.named("the track", name)) only a range is shown"
        case .videoTrack: "\(Wording.named("the video track", name)) is not the first"
        case .otherTrack(let kind): "\(Wording.named("the track", name)) is of the kind \(kind)"
        case .startTime: "the start time counts no frames"
        }
    }

    /// What a user can do about it, in the imperative.
    fileprivate var remedy: String {
        switch self {
        case .transition: "make it a cut"
        case .nested: "put its clips on the video track"
        case .schema, .effect, .otherTrack: "remove it"
        case .generator, .imageSequence, .remoteMedia: "make a video file of it"
        case .noMedia, .missingFile: "link the clip to a file"
        case .otherSound: "remove the track, or render its sound beforehand"
        case .trimmedTrack: "trim the clips instead"
        case .videoTrack: "put its clips on the first"
        case .startTime: "give it the frame rate of the timeline"
        }
    }
}
