extension Plan {
    /// The parts of the sources that the segments of all passes hold.
    package var subjects: Set<SegmentSubject> { Set(passes.flatMap(subjects)) }

    /// The parts that the segments of a pass hold, in the order of its chunks.
    package func subjects(of pass: Pass) -> [SegmentSubject] {
        switch pass {
        case .video(let pass): pass.chunks.map { .video(frames: $0) }
        case .audio(let place): audio.indices.contains(place) ? [.audio(track: audio[place].track)] : []
        case .assembly, .probe: []
        }
    }
}
