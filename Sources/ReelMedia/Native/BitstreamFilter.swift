internal import CFFmpeg
internal import ReelCore

/// One of libavcodec's bitstream filters, which change coded packets.
final class BitstreamFilter {
    private var native: UnsafeMutablePointer<AVBSFContext>

    /// Makes the filter that a source's stream needs before other code reads its packets; nil for most streams. DivX
    /// puts two pictures of MPEG-4 into one packet and an empty one into the next, so that packets are not frames.
    init?(for stream: UnsafeMutablePointer<AVStream>) throws(ReelFailure) {
        guard stream.pointee.codecpar.pointee.codec_id == AV_CODEC_ID_MPEG4,
            let filter = av_bsf_get_by_name("mpeg4_unpack_bframes")
        else { return nil }
        var context: UnsafeMutablePointer<AVBSFContext>?
        try check(av_bsf_alloc(filter, &context), .filterPackets)
        native = try allocated(context, .filterPackets)
        native.pointee.time_base_in = stream.pointee.time_base
        try check(avcodec_parameters_copy(native.pointee.par_in, stream.pointee.codecpar), .filterPackets)
        try check(av_bsf_init(native), .filterPackets)
        // The decoder must not look for packed pictures any more.
        try check(avcodec_parameters_copy(stream.pointee.codecpar, native.pointee.par_out), .filterPackets)
    }

    deinit {
        var context: UnsafeMutablePointer<AVBSFContext>? = native
        av_bsf_free(&context)
    }

    /// Replaces the packet with the filter's output; false if the filter keeps it back. A packet that the filter cannot
    /// read passes unchanged, since the decoder can deal with damage.
    func pass(_ packet: borrowing Packet) throws(ReelFailure) -> Bool {
        let original = try Packet()
        try check(av_packet_ref(original.native, packet.native), .filterPackets)
        try check(av_bsf_send_packet(native, packet.native), .filterPackets)
        let code = av_bsf_receive_packet(native, packet.native)
        if code == reel_error_again { return false }
        if code < 0 { packet.take(original) }
        return true
    }

    /// Discards packets that the filter keeps back.
    func flush() { av_bsf_flush(native) }
}
