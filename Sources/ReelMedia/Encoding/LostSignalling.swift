internal import ReelCore

/// The signalling of pictures (field order, rotation, light, colour) that neither encoder nor container holds.
struct LostSignalling {
    let stream: VideoStream
    /// The format of the output's video.
    let format: OutputFormat
    let encoder: String
    let container: Container

    var diagnostics: [Diagnostic] { [rotation, interlacing, light, colour].compactMap(\.self) }

    private var rotation: Diagnostic? {
        guard format.displayMatrix != nil, !container.traits.holdsRotation else { return nil }
        return .rotationLost(container: container)
    }

    private var told: EncoderTraits.Told { EncoderTraits.named(encoder).tells }

    private var interlacing: Diagnostic? {
        guard format.fieldOrder.isInterlaced else { return nil }
        let first: FirstField = format.fieldOrder == .topFirst ? .top : .bottom
        guard told.contains(.fields) else {
            if !format.fieldsVary, container.traits.holdsFieldOrder {
                return .interlacingInContainer(first: first, encoder: encoder)
            }
            return .interlacingLost(first: first, encoder: encoder)
        }
        // If only the direction changes the field order, encoders flag it right: a chunk has one direction.
        guard stream.fieldsVary else { return format.fieldsVary ? .fieldOrdersVary : nil }
        guard !told.contains(.fieldsOfEachFrame) else { return nil }
        return .interlacingUniform(first: first, encoder: encoder)
    }

    private var light: Diagnostic? {
        guard stream.masteringDisplay != nil || stream.contentLight != nil, !container.traits.holdsLight,
            !told.contains(.light)
        else { return nil }
        return .lightLost(encoder: encoder, container: container)
    }

    private var colour: Diagnostic? {
        let tags = stream.colour
        guard !container.traits.holdsColour, !told.contains(.colour),
            [tags.primaries, tags.transfer, tags.matrix].contains(where: { $0 != nil }) || tags.range == "pc"
        else { return nil }
        return .colourLost(encoder: encoder, container: container)
    }
}
