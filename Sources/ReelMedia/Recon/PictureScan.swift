internal import CFFmpeg
internal import ReelCore

/// Reads the video's packets one after the other: every picture's header if headers may differ, else the headers of
/// packets flagged as key and of a few more.
final class PictureScan {
    private let demuxer: Demuxer
    private let randomAccess: RandomAccess
    let parser: PictureParser?
    private var syntax: FieldSyntax
    private var number = 0

    /// Bytes that contain the beginning of most packets: the first slice's header, after parameter sets and messages if
    /// there are any.
    private static let heads = [80, 512, 4096]
    /// One in this many packets is read although nothing new is expected.
    private static let spread = 256

    init(_ stream: UnsafeMutablePointer<AVStream>, in demuxer: Demuxer) throws(ReelFailure) {
        self.demuxer = demuxer
        let parameters = stream.pointee.codecpar.pointee
        randomAccess = RandomAccess(codec: parameters.codec_id, extradata: parameters.header)
        parser = try PictureParser(parameters, randomAccess: randomAccess)
        syntax = FieldSyntax(codec: parameters.codec_id, extradata: parameters.header)
        if demuxer.leavesPayload, randomAccess.readsBytes { demuxer.expectKeys(of: stream) }
    }

    /// Takes a packet that was read.
    func scan(_ packet: borrowing Packet) throws(ReelFailure) -> ScannedPacket {
        var flags: PacketEntry.Flags = []
        if packet.isKey { flags.insert(.key) }
        if packet.isDiscarded { flags.insert(.discarded) }
        var scanned = ScannedPacket(
            pts: packet.pts, dts: packet.dts, duration: packet.duration, size: Int32(packet.size),
            position: packet.position, flags: flags, startsDecoding: packet.isKey)
        if demuxer.leavesPayload {
            try scanHead(of: &scanned)
        } else {
            packet.withBytes { _ = look(at: $0, isCut: false, &scanned) }
            number += 1
        }
        return scanned
    }

    /// Takes the next packet from the container's table, and reads no more of its payload than necessary.
    func scanHead(of scanned: inout ScannedPacket) throws(ReelFailure) {
        defer { number += 1 }
        let isKey = scanned.flags.contains(.key)
        guard randomAccess.readsBytes, isKey || syntax.mayHaveFields || number % Self.spread == 0 else { return }
        let (size, position) = (Int(scanned.size), scanned.position)
        for length in Self.heads where length < size {
            let head = try demuxer.withFirstBytes(length, at: position) { randomAccess.head(in: $0) }
            if let head, head.withUnsafeBytes({ look(at: $0, isCut: true, &scanned) }) { return }
        }
        try demuxer.withFirstBytes(size, at: position) { _ = look(at: $0, isCut: false, &scanned) }
    }

    /// Fills in what the bytes say; false if they end too early.
    private func look(at bytes: UnsafeRawBufferPointer, isCut: Bool, _ scanned: inout ScannedPacket) -> Bool {
        let isKey = scanned.flags.contains(.key)
        scanned.startsDecoding = isKey && randomAccess.startsDecoding(bytes)
        guard let parser else { return true }
        guard let picture = parser.look(at: bytes, flags: scanned.flags, isCut: isCut) else { return false }
        scanned.picture = picture
        if demuxer.leavesPayload, isKey { syntax.note(bytes, isField: parser.isField) }
        return true
    }
}
