internal import CFFmpeg
internal import Crypto
internal import ReelCore

extension TargetChoice {
    /// Whether the source's packets are passed through: because the user asked for it, or because nothing asks for
    /// other pictures and nothing prevents it.
    var copiesVideo: Bool {
        insistsOnCopy || (leavesPicturesAlone && isShownAsCopied && (try? codedVideo()) != nil)
    }

    private var insistsOnCopy: Bool { spec.videoCodec == VideoTarget.copy }

    /// Whether players show a copy in the job's container, and upright.
    private var isShownAsCopied: Bool { !turnsUpright && spec.container.shows(codec: index.video.stream.codec) }

    /// Whether no option asks for other pictures. A spec that sets the length of passes asks for passes, which
    /// passthrough does not have.
    private var leavesPicturesAlone: Bool {
        spec.videoCodec == nil && spec.crf == nil && spec.preset == nil && spec.bitrate == nil && spec.passFrames == nil
            && spec.profile == nil && spec.size == nil && spec.pixelFormat == nil && spec.mostFrames == nil
    }

    /// The target for passthrough; nil if packets are not passed through. Throws `.usage` for options that it cannot
    /// follow, and `.input` with the obstacle if the user asked for passthrough and it is impossible.
    mutating func copy() throws(ReelFailure) -> VideoPassthrough? {
        if insistsOnCopy {
            let options: [(JobSpec.Option, Bool)] = [
                (.crf, spec.crf != nil), (.preset, spec.preset != nil), (.bitrate, spec.bitrate != nil),
                (.passFrames, spec.passFrames != nil), (.size, spec.size != nil),
                (.pixelFormat, spec.pixelFormat != nil), (.fps, spec.mostFrames != nil),
                (.profile, spec.profile != nil),
            ]
            if let (option, _) = options.first(where: \.1) { throw ReelFailure(.copyWithOption(option: option)) }
        }
        guard copiesVideo else { return nil }
        let coded = try codedVideo()
        let stream = index.video.stream
        return VideoPassthrough(
            format: OutputFormat(
                of: stream, spec.directions, timeBase: try spec.clock(of: indexes), pixelFormat: stream.pixelFormat),
            identity: EncoderIdentity(
                build: EncoderBuilds.build(of: VideoTarget.copy),
                extradataHash: Hexadecimal.text(SHA256.hash(data: coded.extradata))))
    }

    /// The packets' parameters, which all sources have. Throws `.copyImpossible` or `.copyNotGivenBack` if there are none.
    private func codedVideo() throws(ReelFailure) -> CodedVideo {
        let coded = try codedVideo(of: index)
        if spec.edit?.clips.contains(where: { $0.source == nil }) == true {
            throw ReelFailure(.copyImpossible(obstacle: .blackPictures))
        }
        for other in others {
            let own = try codedVideo(of: other)
            guard own == coded, other.video.stream.hasPackets(like: index.video.stream) else {
                throw ReelFailure(.copyImpossible(obstacle: .sourcesDiffer))
            }
        }
        return coded
    }

    private func codedVideo(of index: SourceIndex) throws(ReelFailure) -> CodedVideo {
        switch index.passthrough {
        case .impossible(let obstacle):
            throw ReelFailure(.copyImpossible(obstacle: obstacle))
        case .possible(let coded):
            guard coded.containers.contains(spec.container) else {
                throw ReelFailure(
                    .copyNotGivenBack(
                        codec: index.video.stream.codec, pixelFormat: index.video.stream.pixelFormat,
                        container: spec.container))
            }
            return coded
        }
    }
}

extension VideoStream {
    /// Whether a decoder that was opened for `other` shows this stream's packets as they are meant.
    fileprivate func hasPackets(like other: VideoStream) -> Bool {
        codec == other.codec && profile == other.profile && fits(other) && colour == other.colour
            && fieldOrder == other.fieldOrder && !fieldsVary && !other.fieldsVary
    }
}
