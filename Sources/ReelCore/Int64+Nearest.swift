extension Int64 {
    /// The integer nearest to a number that may come from a damaged file or a hostile engine: at most 2^62 on either side, 0
    /// for no number.
    package init(nearest value: Double) {
        let most = 4_611_686_018_427_387_904.0
        self = value.isNaN ? 0 : Int64(Swift.min(Swift.max(value.rounded(), -most), most))
    }
}
