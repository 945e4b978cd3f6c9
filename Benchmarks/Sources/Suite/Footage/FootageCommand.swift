internal import ArgumentParser
internal import Foundation

struct FootageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "footage", abstract: "Writes made-up film on standard output, as raw frames of 4:2:0.")

    @Option(help: "What it is like: film, talk or drawing.")
    var kind: FootageKind = .film

    @Option(help: "Pixels.")
    var width = 1280

    @Option(help: "Pixels.")
    var height = 720

    @Option(help: "How many.")
    var frames = 300

    @Option(help: "Frames a second, for the pace of what moves.")
    var rate = 30.0

    @Option(help: "Bits of a sample: 8, or 10 in two bytes.")
    var depth = 8

    @Option(help: "The same seed gives the same pictures.")
    var seed: UInt64 = 1

    func validate() throws {
        guard width > 0, height > 0, width % 4 == 0, height % 4 == 0, frames > 0, rate > 0, [8, 10].contains(depth)
        else {
            throw ValidationError("width and height are multiples of 4, depth is 8 or 10, frames and rate are above 0")
        }
    }

    func run() throws {
        let footage = Footage(kind: kind, width: width, height: height, frames: frames, rate: rate, seed: seed)
        let count = width * height * 3 / 2
        let samples = UnsafeMutableBufferPointer<UInt16>.allocate(capacity: count)
        defer { samples.deallocate() }
        samples.initialize(repeating: 512)
        var bytes = [UInt8](repeating: 0, count: count)
        for number in 0..<frames {
            footage.picture(number, into: samples)
            if depth == 10 {
                try FileHandle.standardOutput.write(contentsOf: Data(buffer: samples))
            } else {
                for place in 0..<count { bytes[place] = UInt8(truncatingIfNeeded: samples[place] >> 2) }
                try FileHandle.standardOutput.write(contentsOf: bytes)
            }
        }
    }
}

extension FootageKind: ExpressibleByArgument {}
