internal import ReelCore

/// What an encoder and a container together cannot hold of the picture's meaning.
struct PictureMeaning {
    let stream: VideoStream
    let encoder: String
    let container: Container

    var diagnostics: [Diagnostic] { [rotation, fields, light, colour].compactMap(\.self) }

    private var isQuickTime: Bool { container == .mp4 || container == .mov }

    private var rotation: Diagnostic? {
        guard stream.displayMatrix != nil, !isQuickTime else { return nil }
        return .rotationLost(container: container)
    }

    /// Encoders that say in each frame or in the stream how its fields follow each other.
    static let interlacing: Set<String> = ["libx264", "libx264rgb", "mpeg2video", "ffv1", "prores_ks"]

    private var fields: Diagnostic? {
        guard stream.fieldOrder.isInterlaced else { return nil }
        let first: FirstField = stream.fieldOrder.reversed == .topFirst ? .top : .bottom
        guard Self.interlacing.contains(encoder) else {
            if !stream.fieldsVary, container == .mkv || isQuickTime {
                return .interlacingInContainer(first: first, encoder: encoder)
            }
            return .interlacingLost(first: first, encoder: encoder)
        }
        guard stream.fieldsVary, encoder != "ffv1" else { return nil }
        return .interlacingUniform(first: first, encoder: encoder)
    }

    private var light: Diagnostic? {
        guard stream.masteringDisplay != nil || stream.contentLight != nil, container == .ts || container == .nut,
            encoder != "libx265", encoder != "libsvtav1"
        else { return nil }
        return .lightLost(encoder: encoder, container: container)
    }

    /// Encoders that write all of the colour into the stream.
    private static let telling = ["libx264", "libx264rgb", "libx265", "libsvtav1", "prores_ks"]

    private var colour: Diagnostic? {
        let tags = stream.colour
        guard container == .nut, !Self.telling.contains(encoder),
            [tags.primaries, tags.transfer, tags.matrix].contains(where: { $0 != nil })
        else { return nil }
        return .colourLost(encoder: encoder, container: container)
    }
}
