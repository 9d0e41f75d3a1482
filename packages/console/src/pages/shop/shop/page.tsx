import { PageTitle } from '../../../ui/parts.tsx'

export const ShopPage = () => <PageTitle title="My shop" />
