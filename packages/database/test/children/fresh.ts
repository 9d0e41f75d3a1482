// Makes a test database and says where.
import { freshDatabase } from '../../src/testing.ts'

const database = await freshDatabase()
console.log(database.url)
await database.drop()
