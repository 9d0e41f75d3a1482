import { dot, type Vector } from './vector.ts'

/** Points around which vectors are grouped, so that a search looks at a few groups only. */
export interface Cells {
  dims: number
  /** How many vectors they were chosen for. */
  vectors: number
  points: readonly Vector[]
}

const PER_CELL = 256

/** The same for the same vectors in the same order. */
export function chooseCells(vectors: readonly Vector[]): Cells {
  const dims = vectors[0]?.length ?? 0
  const count = Math.max(1, Math.round(vectors.length / PER_CELL))
  const step = vectors.length / count
  const points = Array.from({ length: count }, (_, i) => vectors[Math.floor(i * step)] ?? new Int8Array(dims))
  return { dims, vectors: vectors.length, points }
}

export function nearestPoint(cells: Cells, vector: Vector): number {
  let best = 0
  let most = -Infinity
  cells.points.forEach((point, i) => {
    const near = dot(point, vector)
    if (near > most) {
      most = near
      best = i
    }
  })
  return best
}

export function writeCells(cells: Cells): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(cells.dims, 0)
  head.writeUInt32BE(cells.vectors, 4)
  return Buffer.concat([
    head,
    ...cells.points.map((point) => Buffer.from(point.buffer, point.byteOffset, point.length)),
  ])
}

export function readCells(bytes: Uint8Array): Cells {
  const buffer = Buffer.from(bytes)
  const dims = buffer.readUInt32BE(0)
  const points: Vector[] = []
  for (let at = 8; at < buffer.length; at += dims) points.push(new Int8Array(buffer.subarray(at, at + dims)))
  return { dims, vectors: buffer.readUInt32BE(4), points }
}
