/** Rows of numbers, kept in columns that grow. */
export class Columns {
  #columns: Float64Array[]
  #length = 0

  constructor(count: number) {
    this.#columns = Array.from({ length: count }, () => new Float64Array(1_024))
  }

  push(...row: number[]): void {
    if (this.#length === this.#columns[0]?.length) this.#columns = this.#columns.map(doubled)
    for (const [at, column] of this.#columns.entries()) column[this.#length] = row[at] as number
    this.#length++
  }

  at(column: number): Float64Array {
    return (this.#columns[column] as Float64Array).slice(0, this.#length)
  }
}

function doubled(column: Float64Array): Float64Array {
  const longer = new Float64Array(2 * column.length)
  longer.set(column)
  return longer
}
