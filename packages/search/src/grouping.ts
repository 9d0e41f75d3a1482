/** Groups of slots; each slot is in at most one group. */
export class Grouping<Group> {
  readonly #members = new Map<Group, number[]>()
  readonly #group: (Group | undefined)[] = []
  /** The position of a slot in its group, for removal in constant time. */
  readonly #place: number[] = []

  /** The slots of a group, unordered. */
  of(group: Group): readonly number[] {
    return this.#members.get(group) ?? []
  }

  has(slot: number): boolean {
    return this.#group[slot] !== undefined
  }

  put(slot: number, group: Group): void {
    this.remove(slot)
    const members = this.#members.get(group)
    this.#group[slot] = group
    this.#place[slot] = members?.length ?? 0
    if (members === undefined) this.#members.set(group, [slot])
    else members.push(slot)
  }

  remove(slot: number): void {
    const group = this.#group[slot]
    if (group === undefined) return
    this.#group[slot] = undefined
    const members = this.#members.get(group) as number[]
    const last = members.pop() as number
    if (members.length === 0) this.#members.delete(group)
    if (last === slot) return
    members[this.#place[slot] as number] = last
    this.#place[last] = this.#place[slot] as number
  }
}
