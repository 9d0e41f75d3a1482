import { inspect } from 'node:util'

/** Text that must not be seen. It prints as `[secret]` however it is printed; only `reveal` tells it. */
export class Secret<T extends string = string> {
  readonly #text: T

  constructor(text: T) {
    this.#text = text
  }

  reveal(): T {
    return this.#text
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}
