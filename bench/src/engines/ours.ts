import { Catalogue, chooseCells, type Product, quantize, type Vector } from '@referrer/search'
import type { Item, OpenEngine } from './engine.ts'

/** As in the service: fewer vectors are all looked at. */
const LEAST_FOR_CELLS = 5_000

export const open: OpenEngine = async () => {
  const catalogue = new Catalogue()
  const vectors: Vector[] = []
  const ask = (
    intent: string,
    vector: Float32Array | undefined,
    limit: number,
    category: string | undefined,
  ) =>
    catalogue
      .find({ intent, vector: vector && quantize(vector), category, ceiling: undefined, limit })
      .map(({ key }) => Number(key))
  return {
    add(items) {
      for (const item of items) {
        const product = productOf(item)
        catalogue.put(product)
        if (product.vector) vectors.push(product.vector)
      }
    },
    built() {
      if (vectors.length >= LEAST_FOR_CELLS) catalogue.useCells(chooseCells(vectors))
      vectors.length = 0
    },
    nearest: (vector, limit, category) => ask('', vector, limit, category),
    match: (text, limit, category) => ask(text, undefined, limit, category),
    put: (item) => catalogue.put(productOf(item)),
    remove: (id) => catalogue.drop(keyOf(id)),
  }
}

const keyOf = (id: number) => `${id}`.padStart(9, '0')

const productOf = ({ id, name, category, description, vector }: Item): Product => ({
  key: keyOf(id),
  name,
  category,
  description,
  evidence: '',
  rank: 0,
  price: undefined,
  leastPrice: 0,
  vector: vector && quantize(vector),
})
