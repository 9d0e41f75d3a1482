/** Copies the numbers into a larger array. */
export function grown<
  Numbers extends Float32Array | Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array,
>(numbers: Numbers, larger: Numbers): Numbers {
  larger.set(numbers)
  return larger
}
