internal import CFFmpeg
internal import ReelCore

// Segments of different rates join only if the encoder's parameters do not depend on the rate.
extension TargetChoice {
    /// Fixes all settings that would differ from chunk to chunk, and sets the hash of the common parameters. Throws
    /// `.usage` if an encoder still writes its rate into its parameters.
    func followSource(_ target: inout VideoEncoding) throws(ReelFailure) {
        let track = index.video
        let average = track.bitrate(of: track.frames.indices) ?? 1_000_000
        // Encoders choose their level by the rate; take the level for four times the average rate.
        let level = try Encoder(target, stream: track.stream, bitrate: 4 * average).level
        switch (target.traits.levelOption, level) {
        case (.x264, let level?):
            target.options.append(MediaOption(name: "level", value: "\(level)"))
        case (.x265, let level?):
            guard let place = target.options.firstIndex(where: { $0.name == "x265-params" }) else { break }
            target.options[place].value += ":info=0:high-tier=0:level-idc=\(level)"
        default: break
        }
        let hash = try extradataHash(target, average)
        for bitrate in [average / 8 + 1, average * 8] where try extradataHash(target, bitrate) != hash {
            throw ReelFailure(.sourceRateUnsupported(encoder: target.encoder))
        }
        target.identity.extradataHash = hash
    }

    /// The hash of the parameters that the encoder makes at this rate in bits per second; nil for constant quality.
    func extradataHash(_ target: VideoEncoding, _ bitrate: Int64?) throws(ReelFailure) -> String {
        try Encoder(target, stream: index.video.stream, bitrate: bitrate).extradataHash
    }
}

extension Encoder {
    /// Ten times the level in the sequence parameter set of H.264 or HEVC (ITU-T H.264 7.3.2.1.1, H.265 7.3.3).
    fileprivate var level: Int? {
        for unit in NALFraming.annexB.units(in: extradata) {
            let bytes = withoutEmulationPrevention(unit)
            guard let header = bytes.first else { continue }
            if traits.levelOption == .x264, header & 0x1f == 7, bytes.count > 3 { return Int(bytes[3]) }
            if traits.levelOption == .x265, (header >> 1) & 0x3f == 33, bytes.count > 14 { return Int(bytes[14]) / 3 }
        }
        return nil
    }

    /// A 3 after two zeros is not part of the payload (ITU-T H.264 7.4.1).
    private func withoutEmulationPrevention(_ unit: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        unit.reduce(into: (bytes: [UInt8](), zeros: 0)) { found, byte in
            if found.zeros < 2 || byte != 3 { found.bytes.append(byte) }
            found.zeros = byte == 0 ? found.zeros + 1 : 0
        }.bytes
    }
}
