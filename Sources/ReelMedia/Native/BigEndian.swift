extension RandomAccessCollection<UInt8> where Index == Int {
    /// The unsigned big-endian number of `bytes` bytes at an offset. All of them must be inside the collection.
    func bigEndian(at offset: Int, bytes: Int) -> Int {
        self[offset..<offset + bytes].reduce(0) { $0 << 8 | Int($1) }
    }
}
