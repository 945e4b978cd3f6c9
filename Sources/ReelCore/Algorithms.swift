extension RandomAccessCollection {
    /// The first index for which `belongs` is true. It must be false for all before and true for all after.
    func partitioningIndex(where belongs: (Element) -> Bool) -> Index {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
            if belongs(self[middle]) { high = middle } else { low = index(after: middle) }
        }
        return low
    }
}

extension Array where Element: Comparable {
    /// For each place, the least element from there on.
    var leastFromEach: [Element] {
        var least = self
        for place in indices.dropLast().reversed() { least[place] = Swift.min(least[place], least[place + 1]) }
        return least
    }
}

extension Int64 {
    /// The integer nearest to a number that may come from a damaged file or a hostile engine: at most 2^62 on either
    /// side, 0 for no number.
    package init(nearest value: Double) {
        let most = 4_611_686_018_427_387_904.0
        self = value.isNaN ? 0 : Int64(Swift.min(Swift.max(value.rounded(), -most), most))
    }
}
