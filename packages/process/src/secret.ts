import { inspect } from 'node:util'

/** A text that must not appear in logs or answers. It prints as `[secret]` in every way of printing; only `reveal` returns it. */
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
