/** Values by name, as many as may be kept: of more, those go that were not asked for for longest. */
export interface Kept<V> {
  get(name: string): V | undefined
  put(name: string, value: V): void
}

export function createKept<V>(most: number): Kept<V> {
  const values = new Map<string, V>()
  const kept: Kept<V> = {
    get(name) {
      const value = values.get(name)
      if (value !== undefined) kept.put(name, value)
      return value
    },
    put(name, value) {
      values.delete(name)
      values.set(name, value)
      const [oldest] = values.size > most ? values.keys() : []
      if (oldest !== undefined) values.delete(oldest)
    },
  }
  return kept
}
