internal import BasicContainers
internal import CFFmpeg
internal import Dispatch
internal import ReelCore

/// Adds packets to checksums on a thread of its own, while the next ones are read or written.
final class DigestQueue {
    private let thread = WorkQueue()
    /// One batch being hashed and the next one.
    private let room = DispatchSemaphore(value: 2)
    private var batch = Batch()

    /// Adds a packet's payload as it is now; calls keep their order.
    func add(_ packet: borrowing Packet, to digest: PayloadDigest) throws(ReelFailure) {
        try batch.add(packet, to: digest)
        if batch.isFull { send() }
    }

    /// Waits until the checksums include everything added.
    func finish() {
        send()
        thread.wait()
    }

    private func send() {
        let full = batch
        batch = Batch()
        room.wait()
        thread.add { [room] in
            full.digest()
            room.signal()
        }
    }
}

/// A batch of packets for the checksums. Small packets are batched, because a change of threads costs as much as
/// thousands of bytes. `@unchecked` because, once a batch is sent, no other thread touches it, nor its checksums until
/// the queue has finished.
private final class Batch: @unchecked Sendable {
    private var packets = UniqueArray<Packet>()
    private var digests: [PayloadDigest] = []
    private var bytes = 0

    var isFull: Bool { bytes >= 1 << 20 }

    func add(_ packet: borrowing Packet, to digest: PayloadDigest) throws(ReelFailure) {
        let shared = try Packet()
        try check(av_packet_ref(shared.native, packet.native), .makePacket)
        bytes += packet.size + 1024
        packets.append(shared)
        digests.append(digest)
    }

    func digest() {
        for (place, digest) in digests.enumerated() { digest.add(packets[place]) }
        packets.removeAll()
    }
}
