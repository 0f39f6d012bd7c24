import { readAndWrite } from '../kernel/schema/grants.ts';

export const SEARCH_GRANTS = readAndWrite('search_progress', 'search_documents');
