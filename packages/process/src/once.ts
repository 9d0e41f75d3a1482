/** Creates a value once for each context object, on first use. The value is garbage-collected with its context. */
export const oncePer =
  <C extends object>() =>
  <T>(make: (context: C) => T): ((context: C) => T) => {
    const made = new WeakMap<C, { value: T }>()
    return (context) => {
      let found = made.get(context)
      if (!found) {
        found = { value: make(context) }
        made.set(context, found)
      }
      return found.value
    }
  }
