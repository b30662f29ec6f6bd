-- What the bytes of a content say (`domain/content-traits.ts`), and whether they are brotli (1) or not (0). Null: not
-- looked at yet. Traits come with the row of a new content; brotli is looked for where a file's name asks for it.
ALTER TABLE blobs ADD COLUMN traits INTEGER;
ALTER TABLE blobs ADD COLUMN is_brotli INTEGER CHECK (is_brotli IN (0, 1));
