extension [String] {
    /// Each word once, where it comes first.
    package var removingRepeats: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
