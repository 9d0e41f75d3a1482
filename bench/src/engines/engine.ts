/** A product as all engines are given it. */
export type Item = {
  id: number
  name: string
  category: string
  description: string
  /** Undefined where words alone are measured. */
  vector: Float32Array | undefined
}

/** What an engine must do to be measured; what it cannot do it leaves out. Ids come best first. */
export interface Engine {
  /** Called several times, and `built` after the last. */
  add(items: readonly Item[]): Promise<void> | void
  built?(): Promise<void> | void
  nearest?(vector: Float32Array, limit: number, category: string | undefined): Promise<number[]> | number[]
  match?(text: string, limit: number, category: string | undefined): Promise<number[]> | number[]
  /** Changes an item that is there. */
  put?(item: Item): Promise<void> | void
  remove?(id: number): Promise<void> | void
  /** What it keeps outside this process. */
  outsideBytes?(): Promise<number>
  close?(): Promise<void>
}

export type OpenEngine = (expected: { items: number; dims: number }) => Promise<Engine>

/** Where an engine's module is, and what matters for adopting it. */
export type Candidate = {
  name: string
  module: URL
  /** Environment that it needs. */
  env?: Record<string, string>
  /** Installed on demand. */
  isForeign: boolean
  licence: string
  released: string
  binaries: string
}
