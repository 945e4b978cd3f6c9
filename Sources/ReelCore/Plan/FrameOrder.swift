/// The frames of a plan's clips in the order of the output.
package struct FrameOrder: Sendable {
    private let clips: [Clip]
    /// For each clip, the number of frames that the output shows before it.
    private let starts: [Int]
    /// The number of frames.
    package let count: Int

    /// The order of a plan's frames.
    package init(_ plan: Plan) {
        clips = plan.clips
        var (starts, count): ([Int], Int) = ([], 0)
        for clip in clips {
            starts.append(count)
            count += clip.frameCount
        }
        (self.starts, self.count) = (starts, count)
    }

    /// The clip that the output shows at `place`, counted in frames from 0, and the frame of that clip's source. `place` is
    /// within `count`.
    package func frame(at place: Int) -> (clip: Clip, frame: Int) {
        let number = clip(at: place)
        return (clips[number], clips[number].frame(at: place - starts[number]))
    }

    /// The index in `Plan.clips` of the clip that the output shows at `place`.
    package func clip(at place: Int) -> Int { starts.partitioningIndex { $0 > place } - 1 }
}
