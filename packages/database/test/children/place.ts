// Where this module is, and whether it is the program.
export const place = {
  url: import.meta.url,
  filename: import.meta.filename,
  dirname: import.meta.dirname,
  isMain: import.meta.main,
}
