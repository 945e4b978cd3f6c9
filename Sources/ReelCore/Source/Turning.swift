/// How pictures with one display matrix are turned and mirrored so that they are upright under another.
package struct Turning: Equatable, Sendable {
    /// Where the axes of a picture go: x becomes (a, b), y becomes (c, d), each -1, 0 or 1.
    package private(set) var (a, b, c, d) = (1, 0, 0, 1)

    /// Matrices that turn by something else than quarters count as none; nil is no matrix.
    package init(from source: [Int32]?, to target: [Int32]?) {
        let (first, last) = (Turning.quarters(source), Turning.quarters(target))
        // The inverse of such a matrix is its transposition.
        a = first.a * last.a + first.b * last.b
        b = first.a * last.c + first.b * last.d
        c = first.c * last.a + first.d * last.b
        d = first.c * last.c + first.d * last.d
    }

    private static func quarters(_ matrix: [Int32]?) -> (a: Int, b: Int, c: Int, d: Int) {
        guard let matrix, matrix.count == 9 else { return (1, 0, 0, 1) }
        let found = (
            a: Int(matrix[0].signum()), b: Int(matrix[1].signum()), c: Int(matrix[3].signum()),
            d: Int(matrix[4].signum())
        )
        let isStraight = abs(found.a) == 1 && abs(found.d) == 1 && found.b == 0 && found.c == 0
        let isTurned = abs(found.b) == 1 && abs(found.c) == 1 && found.a == 0 && found.d == 0
        return isStraight || isTurned ? found : (1, 0, 0, 1)
    }

    /// Whether lines become columns.
    package var isSideways: Bool { a == 0 }

    /// Whether the pictures stay as they are.
    package var isNone: Bool { (a, b, c, d) == (1, 0, 0, 1) }
}
