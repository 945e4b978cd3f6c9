internal import Foundation
internal import Glibc
internal import ReelCore

/// The bytes that this process asks its parent for, of all sources: which ones are in their files, and which ones are on
/// their way.
///
/// `@unchecked` because `condition` guards everything that changes.
package final class Fetching: @unchecked Sendable {
    /// Of this process.
    package static let shared = Fetching()

    /// Asks for the bytes of a source, and gives back the room of others.
    package typealias Ask = @Sendable (_ source: Int, _ range: Range<Int64>, _ discarded: Range<Int64>?) -> Void

    private let condition = NSCondition()
    private var ask: Ask?
    private var sources: [Int: Blocks] = [:]

    private enum Block: UInt8 {
        case absent, ordered, present
    }

    private struct Blocks {
        var states: [Block]
        /// Ranges of blocks that are present, the oldest first.
        var arrived: [Range<Int>] = []
        var present = 0
    }

    /// Bytes that are fetched and discarded as one: about what the beginning of a picture takes.
    private static let block: Int64 = 16 << 10
    /// Blocks that one order has at least, unless few bytes at random places are read, and at most. What a request costs
    /// beside its bytes is about what a MiB takes.
    private static let window = 64...256
    /// Blocks that are kept of a source: 256 MiB.
    private static let mostPresent = 16384

    private init() {}

    /// - Parameter ask: how the parent is asked. It must not wait for the answer.
    package func connect(_ ask: @escaping Ask) { condition.withLock { self.ask = ask } }

    /// The parent has fetched these bytes.
    package func arrived(_ source: Int, _ range: Range<Int64>) {
        condition.withLock {
            guard var blocks = sources[source] else { return }
            let found = Fetching.blocks(of: range).clamped(to: 0..<blocks.states.count)
            for place in found where blocks.states[place] != .present {
                blocks.states[place] = .present
                blocks.present += 1
            }
            blocks.arrived.append(found)
            sources[source] = blocks
            condition.broadcast()
        }
    }

    private static func blocks(of range: Range<Int64>) -> Range<Int> {
        Int(range.lowerBound / block)..<Int((range.upperBound + block - 1) / block)
    }

    /// Waits until the beginning of a range is there, reads it, and returns how many bytes. They are read under the lock, so
    /// that no other thread gives back their room meanwhile.
    ///
    /// - Parameters:
    ///   - run: how many bytes have been read one after the other up to here. The longer it is, the more is fetched ahead.
    ///   - last: where reading is known to end; nothing beyond is fetched ahead.
    ///   - read: reads these bytes from the file, and returns their number.
    func read(
        _ bytes: FetchedBytes, _ range: Range<Int64>, after run: Int64, until last: Int64?,
        _ read: (Range<Int64>) -> Int
    ) -> Int {
        condition.withLock {
            let first = Int(range.lowerBound / Fetching.block)
            let most = last.map { max(Fetching.blocks(of: range.lowerBound..<$0).upperBound - first, 1) } ?? .max
            let window = min(
                max(Int(run / Fetching.block), Fetching.window.lowerBound), Fetching.window.upperBound, most)
            while state(bytes, first) != .present {
                if state(bytes, first) == .absent {
                    order(bytes, first..<first + (run == 0 ? 1 : window), keeping: first)
                }
                condition.wait()
            }
            // The next ones come while these are used, half a window at a time.
            let middle = first + window / 2
            if run > 0, middle < (sources[bytes.number]?.states.count ?? 0), state(bytes, middle) == .absent {
                order(bytes, first + 1..<first + min(1 + window, most), keeping: first)
            }
            return read(range.lowerBound..<min(range.upperBound, Int64(first + 1) * Fetching.block))
        }
    }

    /// Asks for bytes that will be read soon.
    func expect(_ bytes: FetchedBytes, _ range: Range<Int64>) {
        let blocks = Fetching.blocks(of: range.clamped(to: 0..<bytes.size))
        condition.withLock { order(bytes, blocks, keeping: blocks.lowerBound) }
    }

    private func state(_ bytes: FetchedBytes, _ block: Int) -> Block { sources[bytes.number]?.states[block] ?? .absent }

    /// Asks for the blocks of a range that are neither there nor on their way, in pieces of a window at most.
    private func order(_ bytes: FetchedBytes, _ range: Range<Int>, keeping kept: Int) {
        let count = Int((bytes.size + Fetching.block - 1) / Fetching.block)
        var blocks = sources[bytes.number] ?? Blocks(states: Array(repeating: .absent, count: count))
        var next = range.lowerBound
        while next < min(range.upperBound, count) {
            guard blocks.states[next] == .absent else {
                next += 1
                continue
            }
            var end = next
            while end < min(range.upperBound, count, next + Fetching.window.upperBound), blocks.states[end] == .absent {
                blocks.states[end] = .ordered
                end += 1
            }
            let wanted = Int64(next) * Fetching.block..<min(Int64(end) * Fetching.block, bytes.size)
            ask?(bytes.number, wanted, discard(&blocks, keeping: kept, of: bytes.size))
            next = end
        }
        sources[bytes.number] = blocks
    }

    /// Gives back the room of the oldest blocks if there are too many. Returns their bytes.
    private func discard(_ blocks: inout Blocks, keeping kept: Int, of size: Int64) -> Range<Int64>? {
        guard blocks.present > Fetching.mostPresent,
            let place = blocks.arrived.firstIndex(where: { !$0.contains(kept) })
        else { return nil }
        let oldest = blocks.arrived.remove(at: place)
        for block in oldest where blocks.states[block] == .present {
            blocks.states[block] = .absent
            blocks.present -= 1
        }
        guard !oldest.isEmpty else { return nil }
        return Int64(oldest.lowerBound) * Fetching.block..<min(Int64(oldest.upperBound) * Fetching.block, size)
    }
}

/// A source whose bytes come into a file when they are read.
final class FetchedByteSource: ByteSource {
    private let bytes: FetchedBytes
    private let file: FileByteSource
    /// Where the last read ended, and how many bytes lie between there and the last jump.
    private var (end, run) = (Int64(0), Int64(0))
    /// Whether few bytes at random places are read.
    private var isRandom = false
    /// What will be read, as far as that is known.
    private var expected: Range<Int64> = 0..<0

    /// A reader that skips no more bytes than these still reads forwards: they are fetched with the rest.
    private static let mostSkipped: Int64 = 1 << 20
    /// The same for a reader that wants few bytes at random places.
    private static let mostSkippedAtRandom: Int64 = 64 << 10

    init(_ bytes: FetchedBytes, in path: String) throws(ByteFault) {
        self.bytes = bytes
        file = try FileByteSource(path)
    }

    var name: String { bytes.name }

    let isDistant = true

    func size() -> Int64 { bytes.size }

    /// The parent compares the version whenever it fetches bytes.
    func revision() -> ByteRevision { ByteRevision(words: [bytes.size]) }

    func expect(_ access: ByteAccess) {
        switch access {
        case .random: isRandom = true
        case .range(let range):
            expected = range
            Fetching.shared.expect(bytes, range)
        // Each would be a request of its own, and the ones that are needed take long enough.
        case .places: break
        }
    }

    func read(at offset: Int64, into room: UnsafeMutableRawBufferPointer) throws(ByteFault) -> Int {
        guard offset >= 0, offset < bytes.size, let start = room.baseAddress else { return 0 }
        let skipped = offset - end
        run = (0...(isRandom ? Self.mostSkippedAtRandom : Self.mostSkipped)).contains(skipped) ? run + skipped : 0
        let wanted = offset..<min(offset + Int64(room.count), bytes.size)
        var fault: ByteFault?
        // A file that is read from its start is likely to be read to its end.
        let isFollowing = run > 0 || offset == 0 && !isRandom
        let last = expected.contains(offset) ? expected.upperBound : nil
        let count = Fetching.shared.read(bytes, wanted, after: isFollowing ? max(run, 1) : 0, until: last) { range in
            let part = UnsafeMutableRawBufferPointer(start: start, count: Int(range.upperBound - range.lowerBound))
            do throws(ByteFault) { return try file.read(at: range.lowerBound, into: part) } catch {
                fault = error
                return 0
            }
        }
        if let fault { throw fault }
        end = offset + Int64(count)
        run += Int64(count)
        return count
    }
}
