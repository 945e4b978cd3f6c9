import ReelWork
import Testing

@Suite struct MemoryPoolTests {
    @Test func asManyPassesAsFit() {
        var memory = MemoryPool(total: 1000)
        memory.reserve(400)
        memory.reserve(400)
        #expect(memory.free == 200)
        memory.release(400)
        #expect(memory.free == 600)
        memory.reserve(700)
        #expect(memory.free == 0)
        memory.release(700)
        memory.release(400)
        memory.release(400)
        #expect(memory.free == 1000)
    }
}
