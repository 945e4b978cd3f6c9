extension Plan {
    /// The parts of the sources that the segments of all passes hold.
    package var parts: Set<SegmentPart> { Set(passes.flatMap(subjects).map(\.part)) }

    /// The subjects of a pass's segments, in the order of its chunks, clip by clip.
    package func subjects(of pass: Pass) -> [SegmentSubject] {
        switch pass {
        case .video(let pass):
            pass.clips.flatMap { clip in
                chunks(of: pass, in: clip).map { SegmentSubject(clip: clip, part: .video(frames: $0)) }
            }
        case .audio(let place):
            audio.indices.contains(place)
                ? [SegmentSubject(clip: 0, part: .audio(track: audio[place].track))] : []
        }
    }

    /// The chunks of a pass in one of its clips, in presentation order: those of which it shows frames.
    package func chunks(of pass: VideoPass, in clip: Int) -> [Range<Int>] {
        pass.chunks.map { $0.clamped(to: clips[clip].frames) }.filter { !clips[clip].shown(in: $0).isEmpty }
    }
}
