internal import CFFmpeg
internal import ReelCore

extension VideoEncoding {
    /// Whether a container gives raw pictures of this encoding back unchanged, tested by writing a picture of noise.
    func isGivenBackRaw(in container: Container, stream: VideoStream) throws(ReelFailure) -> Bool {
        let encoder = try Encoder(self, stream: stream, bitrate: nil)
        let frame = try Frame()
        frame.native.pointee.format = av_get_pix_fmt(format.pixelFormat).rawValue
        frame.native.pointee.width = Int32(format.width)
        frame.native.pointee.height = Int32(format.height)
        frame.pts = Timestamp(0)
        try check(av_frame_get_buffer(frame.native, 0), .makeFrame)
        frame.fillWithNoise()
        try encoder.send(frame)
        let packet = try Packet()
        guard try encoder.receive(into: packet) else { return false }
        let trial = try ContainerTrial(container) { (parameters) throws(ReelFailure) in
            try encoder.describe(into: parameters)
            parameters.pointee.codec_tag = container.fourCC(of: parameters.pointee)
        }
        return try trial.givesBack(packet, showing: frame)
    }
}

extension Frame {
    /// Fills the picture's buffers with a fixed sequence without a pattern.
    fileprivate func fillWithNoise() {
        var state: UInt32 = 1
        withUnsafeBytes(of: &native.pointee.buf) { raw in
            for case let buffer? in raw.bindMemory(to: UnsafeMutablePointer<AVBufferRef>?.self) {
                for place in 0..<Int(buffer.pointee.size) {
                    state = state &* 1_664_525 &+ 1_013_904_223
                    buffer.pointee.data[place] = UInt8(truncatingIfNeeded: state >> 24)
                }
            }
        }
    }
}
