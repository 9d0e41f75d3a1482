// All vectors are looked at, in single precision: the answers that the others are compared with.
import type { Item, OpenEngine } from './engine.ts'

type Kept = { id: number; category: string; vector: Float32Array }

export const open: OpenEngine = async () => {
  const kept: Kept[] = []
  return {
    add(items) {
      kept.push(...items.map(keep))
    },
    nearest(vector, limit, category) {
      const asked = unit(vector)
      const near = kept
        .filter((item) => category === undefined || item.category === category)
        .map((item) => ({ id: item.id, cosine: dot(item.vector, asked) }))
      return near
        .sort((a, b) => b.cosine - a.cosine || a.id - b.id)
        .slice(0, limit)
        .map(({ id }) => id)
    },
  }
}

const keep = ({ id, category, vector }: Item): Kept => ({
  id,
  category,
  vector: unit(vector ?? new Float32Array()),
})

function unit(vector: Float32Array): Float32Array {
  const scale = 1 / (Math.sqrt(dot(vector, vector)) || 1)
  return vector.map((value) => value * scale)
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let index = 0; index < a.length; index++) sum += (a[index] ?? 0) * (b[index] ?? 0)
  return sum
}
