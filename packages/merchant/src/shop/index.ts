// What the commands do, for programs such as create-referrer-shop.
export { closeProduct, closeShop } from './close.ts'
export { connectShop, type Place, placeOf, requireGas, type Shop } from './connect.ts'
export { type Described, type DescribeOptions, describeProduct } from './describe.ts'
export {
  parseName,
  parsePercent,
  parsePrice,
  parseWebUrl,
  showPercent,
  slugOf,
} from './input.ts'
export { readOwner, SANDBOX_PASSWORD } from './key.ts'
export { explain, type Output, reporterOf } from './lines.ts'
export { type Listed, type ListOptions, listProduct, requireSettled } from './list.ts'
export { type Opened, type OpenOptions, openShop } from './open.ts'
export { findProduct, PROJECT_FILE, type Project, type ProjectData, readProject } from './project.ts'
export {
  type RegistrationOptions,
  type WrittenRegistration,
  writeRegistration,
} from './registration.ts'
export { type Reporter, ShopError, type Step } from './report.ts'
export { readStats, type ShopStats } from './stats.ts'
