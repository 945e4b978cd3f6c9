internal import ReelCore

extension FailureReason {
    /// The texts of codes about what a source is; nil for others.
    var sourceText: CodeText? {
        switch self {
        case .sourceUnreadable(let path, let errno, _):
            CodeText(
                "\(path): cannot be read: \(SystemWords.text(errno))", "A host cannot open or read the source.",
                "Check the path, the permissions, the mount and the disk on that host.")
        case .notMedia(let path):
            CodeText(
                "\(path): cannot be read as video: it is not media, or its index is missing (an interrupted "
                    + "recording?)",
                "The source is not media, or its index is missing.",
                "Check the file; repair a recording that was interrupted.")
        case .sourceIsPicture(let path, let codec):
            CodeText(
                "\(path): is a picture (\(codec)), not a video",
                "The source is a still picture.", "Name a video file; of pictures, make one with ffmpeg.")
        case .noVideo(let path):
            CodeText(
                "\(path): has no video; write \(Container.names(Container.ofSound)) for its sound alone, if it has any",
                "The source has no video.",
                "Choose a file with video, or an output of sound: \(Container.names(Container.ofSound)).")
        case .noSound(let path):
            CodeText(
                "\(path): has no sound that can be decoded",
                "The soundtrack's file has no audio track that this FFmpeg decodes.", "Choose a file with sound.")
        case .encrypted(let path):
            CodeText(
                "\(path): the video is encrypted; reel needs it in the clear",
                "The video is encrypted.", "Decrypt the file first.")
        case .noDecoder(let path, let stream, let codec):
            CodeText(
                "\(path): stream \(stream) (\(codec)): this FFmpeg has no decoder for it; a newer FFmpeg may",
                "The FFmpeg of the host that reads the source has no decoder for a stream.",
                "Install an FFmpeg that has the decoder.")
        case .headerDamaged(let path, let stream, let codec):
            CodeText(
                "\(path): the \(codec) decoder rejects stream \(stream); its header is damaged",
                "A decoder rejects the header of a stream.", "Check the file; get an undamaged copy.")
        case .nothingDecodes(let path):
            CodeText(
                "\(prefix(path))nothing of the video decodes; it is damaged or mislabelled",
                "No frame of the video decodes.", "Check the file; get an undamaged copy.")
        case .decoderStuck(let codec):
            CodeText(
                "the \(codec) decoder reports errors without end",
                "A decoder reports errors without end.", "Check the file; get an undamaged copy.")
        case .noFrames(let path):
            CodeText("\(prefix(path))the video has no frames", "The video has no frames.", "Choose a file with frames.")
        case .noStart:
            CodeText(
                "the video cannot be decoded: its first frame is not a random access point",
                "Decoding cannot start at the first frame of the video.", "Get an undamaged copy.")
        case .impossibleSizes(let frameBytes, let reorderDepth):
            CodeText(
                "the source states impossible sizes: frames of \(frameBytes) bytes, of which a decoder holds back "
                    + "\(reorderDepth)",
                "The source states sizes that no video has.", "Get an undamaged copy.")
        case .sourceChanged(let path, let change, let number):
            CodeText(
                "\(path): changed since it was indexed (\(change.words(number))); submit it again",
                "The source is not the file that was indexed.",
                "Leave the source as it is while a job runs; submit it again.")
        case .planDisproved(let path, let disproof, let time):
            CodeText(
                "\(path): \(disproof.words) at \(Wording.seconds(time)): its tables and headers do not match what is "
                    + "shown; all of it is decoded to plan it anew",
                "A pass decodes other frames than its plan has, or damaged ones: the whole source is decoded and "
                    + "planned anew.",
                "Nothing.")
        case .decodesOtherwise(let path, let disproof, let time):
            CodeText(
                "\(path): \(disproof.words) at \(Wording.seconds(time)); the result was another when the whole file "
                    + "was decoded: this host's FFmpeg decodes it differently",
                "A host decodes other frames than came out when the whole source was decoded.",
                "Install the same FFmpeg on every host.")
        case .pictureUnconvertible(let width, let height):
            CodeText(
                "a picture of \(width)x\(height) cannot be converted",
                "A picture has a size that cannot be converted.", "Get an undamaged copy.")
        case .videoDamaged(let path, let damage, let time):
            CodeText(
                "\(path): the video \(damage.words) at \(Wording.seconds(time)); "
                    + "allow damaged frames to be repeated, or get an undamaged copy",
                "A frame does not decode, and the job was asked to fail in that case.",
                "Let damaged frames be repeated, or get an undamaged copy.")
        case .soundOutOfReach(let path, let distance):
            CodeText(
                "\(path): the sound lies \(Wording.seconds(distance)) from the video, too far for timestamps; "
                    + "leave the sound out",
                "The timestamps of sound and video are too far apart.",
                "Leave the sound out, or repair the timestamps.")
        default: nil
        }
    }
}
