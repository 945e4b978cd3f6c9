internal import CFFmpeg
internal import ReelCore

extension Decoder {
    /// The picture that a decoder gives for a packet if it has seen no other; nil unless that is one whole frame.
    static func decodingAlone(
        _ packet: borrowing Packet, of stream: CodedStream, path: String
    ) throws(ReelFailure) -> Frame? {
        let decoder = try Decoder(
            parameters: stream.parameters, timeBase: stream.timeBase, preferring: stream.preferred, threads: 1,
            path: path, number: stream.number)
        guard try decoder.send(packet) == .accepted else { return nil }
        try decoder.drain()
        let frame = try Frame()
        guard try decoder.receive(into: frame) == .frame else { return nil }
        let another = try Frame()
        guard !frame.isDamaged, try decoder.receive(into: another) == .end else { return nil }
        return frame
    }
}

extension Frame {
    /// The visible pixels of all planes, line by line.
    func pixels() throws(ReelFailure) -> [UInt8] {
        let size = try check(
            av_image_get_buffer_size(pixelFormat, native.pointee.width, native.pointee.height, 1), .readPicture)
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let code = withUnsafePointer(to: &native.pointee.data) { planes in
            planes.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 8) { planes in
                withUnsafePointer(to: &native.pointee.linesize) { lines in
                    lines.withMemoryRebound(to: Int32.self, capacity: 8) { lines in
                        av_image_copy_to_buffer(
                            &bytes, size, planes, lines, pixelFormat, native.pointee.width, native.pointee.height, 1)
                    }
                }
            }
        }
        try check(code, .readPicture)
        return bytes
    }
}

extension Packet {
    /// Whether side data of the packet changes how the decoder continues.
    var changesParameters: Bool {
        [AV_PKT_DATA_PALETTE, AV_PKT_DATA_NEW_EXTRADATA, AV_PKT_DATA_PARAM_CHANGE, AV_PKT_DATA_ENCRYPTION_INFO]
            .contains { av_packet_get_side_data(native, $0, nil) != nil }
    }
}
