/// Bytes that are being written, at any offset. They are not there for others until `commit` returns; if the sink goes
/// before that, nothing is. One thread uses it at a time.
protocol ByteSink: AnyObject {
    /// What failures call it.
    var name: String { get }

    /// Writes all of these bytes, over earlier ones or beyond their end.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(ByteFault)

    /// The bytes written so far, to be read while the sink exists.
    func written() throws(ByteFault) -> any ByteSource

    /// Nothing more will be written: begins to make the bytes durable, and does not wait for it.
    func finish()

    /// Waits until the bytes are durable, and puts them in their place as a whole.
    func commit() throws(ByteFault)
}
