/** For contexts of one type: something that is made once for each and lives as long as it does. */
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
