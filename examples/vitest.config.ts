import { project } from '../vitest.shared.ts';

export default project('examples', import.meta.url);
