extension Plan {
    /// The parts of the sources that the segments of all passes hold.
    package var parts: Set<SegmentPart> { Set(passes.flatMap(subjects).map(\.part)) }

    /// The subjects of a pass's segments, in the order of its chunks.
    package func subjects(of pass: Pass) -> [SegmentSubject] {
        switch pass {
        case .video(let pass): pass.chunks.map { SegmentSubject(clip: pass.clip, part: .video(frames: $0)) }
        case .audio(let place):
            audio.indices.contains(place)
                ? [SegmentSubject(clip: audio[place].clip, part: .audio(track: audio[place].track))] : []
        case .assembly, .probe: []
        }
    }
}
