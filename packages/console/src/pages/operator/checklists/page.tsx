import { PageTitle } from '../../../ui/parts.tsx'

export const ChecklistsPage = () => <PageTitle title="Checklists" />
