import { PageTitle } from '../../../ui/parts.tsx'

export const ShopProductPage = () => <PageTitle title="My product" />
