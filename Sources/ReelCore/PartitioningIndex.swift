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
