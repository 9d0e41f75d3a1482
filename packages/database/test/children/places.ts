import { place } from './place.ts'

console.log(JSON.stringify([import.meta.url, import.meta.main, place]))
