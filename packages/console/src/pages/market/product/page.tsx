import { PageTitle } from '../../../ui/parts.tsx'

export const ProductPage = () => <PageTitle title="A product" />
