import FoundationEssentials
import Glibc
import ReelCore
import ReelEngine
import ReelStore

// libFuzzer's own entry point, since SwiftPM wants one of the program's.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ read: @convention(c) (UnsafePointer<UInt8>, Int) -> CInt
) -> CInt

@main
private struct Fuzz {
    static func main() {
        var (count, arguments) = (CommandLine.argc, CommandLine.unsafeArgv)
        exit(runLibFuzzer(&count, &arguments) { read($0, $1) })
    }
}

/// Reads an input that libFuzzer made up: the first byte chooses the reader of the rest. Every input is refused, or gives a
/// value that can be worked with; a trap ends the program. Returns -1 for inputs that are of no further use.
private func read(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start, count: count).dropFirst())
    switch start[0] {
    case UInt8(ascii: "i"): readIndex(bytes)
    case UInt8(ascii: "p"): readPlan(bytes)
    case UInt8(ascii: "r"): readResult(bytes)
    case UInt8(ascii: "j"): _ = try? CanonicalJSON.value(JobRecord.self, from: bytes)
    case UInt8(ascii: "e"): _ = try? JSONDecoder().decode(EngineEvent.self, from: Data(bytes))
    case UInt8(ascii: "s"): _ = SegmentName(String(decoding: bytes, as: UTF8.self)).map { $0.text }
    default: return -1
    }
    return 0
}

private func readIndex(_ bytes: [UInt8]) {
    guard let index = try? SourceIndex(decoding: bytes) else { return }
    let frames = index.video.frames
    guard let last = frames.last else { return }
    let base = TimeBase(1, 90_000)
    let clip = Clip(
        frames: 0..<frames.count,
        map: TimeMap(.backwards, source: base, output: base, start: frames[0].interval.start, end: last.interval.end))
    for place in 0..<min(clip.frameCount, 100) { _ = clip.interval(at: place, in: index.video) }
}

private func readPlan(_ bytes: [UInt8]) {
    guard let plan = try? Plan.decoded(from: bytes) else { return }
    _ = (plan.reservedAddresses, plan.mostEncoderThreads)
    for case .video(let pass) in plan.passes where pass.chunkCount < 1 << 16 { _ = pass.chunks.count }
}

private func readResult(_ bytes: [UInt8]) {
    guard let result = try? CanonicalJSON.value(PassResult.self, from: bytes) else { return }
    for record in result.segments { _ = record.timeBase.seconds(Timestamp(record.start)) }
    _ = result.segments.reduce(Int64(0)) { $0 + min($1.bytes, 1 << 40) }
}
