extension RandomAccessCollection<UInt8> where Index == Int {
    /// An unsigned number of so many bytes at an offset inside the bytes, as containers and codecs write them.
    func bigEndian(at offset: Int, bytes: Int) -> Int {
        self[offset..<offset + bytes].reduce(0) { $0 << 8 | Int($1) }
    }
}
