internal import ReelCore

/// What an encoder and a container together cannot hold of the picture's meaning: a plain line for each.
struct PictureWarnings {
    let stream: VideoStream
    let encoder: String
    let container: Container

    var lines: [String] { [rotation, fields, light, colour].compactMap(\.self) }

    private var isQuickTime: Bool { container == .mp4 || container == .mov }

    private var rotation: String? {
        guard stream.displayMatrix != nil, !isQuickTime else { return nil }
        return "the rotation is lost: a .\(container.rawValue) file cannot hold it; write .mp4 or .mov"
    }

    /// Encoders that say in each frame or in the stream how its fields follow each other.
    static let interlacing: Set<String> = ["libx264", "libx264rgb", "mpeg2video", "ffv1", "prores_ks"]

    private var fields: String? {
        guard stream.fieldOrder.isInterlaced else { return nil }
        let order = stream.fieldOrder.reversed == .topFirst ? "top" : "bottom"
        guard Self.interlacing.contains(encoder) else {
            if !stream.fieldsVary, container == .mkv || isQuickTime {
                return "interlaced, \(order) field first: only the container says so, for \(encoder) cannot"
            }
            return
                "that it is interlaced, \(order) field first, is lost: \(encoder) cannot say so, nor can the container"
        }
        guard stream.fieldsVary, encoder != "ffv1" else { return nil }
        return "interlaced and progressive frames take turns: \(encoder) flags all as \(order) field first"
    }

    private var light: String? {
        guard stream.masteringDisplay != nil || stream.contentLight != nil, container == .ts || container == .nut,
            encoder != "libx265", encoder != "libsvtav1"
        else { return nil }
        return "the HDR10 metadata is lost: neither \(encoder) nor a .\(container.rawValue) file can hold it"
    }

    /// Encoders that write all of the colour into the stream.
    private static let telling = ["libx264", "libx264rgb", "libx265", "libsvtav1", "prores_ks"]

    private var colour: String? {
        let tags = stream.colour
        guard container == .nut, !Self.telling.contains(encoder),
            [tags.primaries, tags.transfer, tags.matrix].contains(where: { $0 != nil })
        else { return nil }
        return "the colour's description is lost: neither \(encoder) nor a .nut file can hold it"
    }
}
