// Convolver: a convolution as tiles of pixels times panels of output channels, or as rows of taps.
#pragma once

#include "cpu/kernels/convolution_layout.h"
#include "cpu/kernels/convolution_source.h"
#include "cpu/kernels/isa_dispatch.h"
#include "cpu/kernels/tile_runs.h"

namespace torchere::cpu {

class Convolver {
public:
  Convolver(const Context &context, const ConvolutionArgs &args)
      : Convolver(context, args, args.plan, args.weights, 0, 0) {}
  /// The phase of row y and column x, by its plan and weights. The input's halo must be wide enough.
  Convolver(const Context &context, const ConvolutionArgs &args, const ConvolutionPlan &plan,
            const float *weights, int64_t y, int64_t x)
      : context_(context), args_(args), plan_(plan), shape_(plan.shape), kernels_(kernelsOf(plan.isa)),
        lanes_(floatLanes(plan.isa)), out_(args.output),
        phases_{args.plan.shape.phases[0], args.plan.shape.phases[1]}, phase_{y, x}, weights_(weights),
        panels_(plan), inputs_(plan) {}
  void run();

private:
  friend class ConvolutionPair;
  struct Cut;
  struct Range {
    int64_t begin, end;
    int64_t count() const { return end - begin; }
  };
  /// Of a window.
  struct Taps {
    TapRange rows{0, 0}, columns{0, 0};
    bool operator==(const Taps &) const = default;
  };
  /// What a part computes. Rows are pixels, if there is one row.
  struct Band {
    Range images, rows, panels;
  };

  /// What all panels of as many vectors have in common on a band.
  struct Tiling {
    PlaneTiles tiles;
    int64_t count = 0; ///< tiles of all images; 0: not known yet
  };
  /// Of all panels' weights.
  struct Chunk {
    Range blocks{0, 0};
    bool isFirst = true, isLast = true;
  };

  /// A panel's chunk on an image.
  struct ImageRun {
    const float *input = nullptr, *residual = nullptr; ///< of the first pixel of all rows
    float *output = nullptr;
    int64_t inputRow = 0, residualRow = 0, outputRow = 0;
    Range rows{0, 0}, pixels{0, 0}; ///< of each row
    EvenTiles tiles;                ///< of each row
    Range blocks{0, 0};             ///< of the input
    const int64_t *offsets = nullptr;
    Taps taken;
  };

  /// What does not change from part to part.
  void prepare(const ConvolutionSource &source);
  void runTiles();
  void runDepthwise();
  void runGrouped();
  void makeTaps();
  template <class Body> void eachBand(const Body &body);
  void scaleRows(int64_t image, int64_t block, int64_t begin, int64_t end) const;
  void finishRows(int64_t image, int64_t block, const Range &rows) const;
  void depthwiseRows(int64_t image, int64_t block, const Range &rows) const;
  template <class Job> Job rowsJob(int64_t image, int64_t block, const Range &rows) const;
  void makeOffsets();
  void flatten();
  Cut cut() const;
  void runBand(const Band &band);
  void runChunk(const Band &band, int64_t panel, const Chunk &chunk, const Tiling &tiling, const float *next);
  Tiling tilingOf(const Band &band, int64_t vectors) const;
  void runRow(ImageRun &image, int64_t y, bool isLastRow, TileArgs &tile) const;
  void runRows(ImageRun &image, TileArgs &tile) const;
  void runColumns(ImageRun image, const PlaneTiles &tiles, TileArgs tile) const;
  void runImage(const Band &band, int64_t panel, const Chunk &chunk, const PlaneTiles &tiles, int64_t image,
                TileArgs &tile);
  TapRange liveTaps(int axis, int64_t begin, int64_t end) const;
  void takeTaps(const ImageRun &image, TileArgs &tile) const;
  int64_t *makeOffsets(int64_t *to, bool beginsByHalf) const;
  bool endsByHalf() const;
  void runPanels(const Band &band, const Range &panels, const Chunk &chunk, Tiling (&tilings)[2]);
  void takeLanes(int64_t image, int64_t panel, const ImageRun &run, const TileArgs &tile) const;
  const float *weightsAt(int64_t panel, int64_t block) const;
  const float *gatedWeights(int64_t image, const TileArgs &tile, const Range &blocks) const;
  void finishRow(int64_t block, const TileArgs &tile, float *pixel, const float *residual, int64_t pixels);
  bool hasFinish() const { return !isTileActivation(args_.epilogue.activation) || args_.hasLastStage(); }
  int64_t chunkBegin(int64_t chunk) const { return partBegin(blocks_, chunks_, chunk); }

  const Context &context_;
  const ConvolutionArgs &args_;
  const ConvolutionPlan &plan_; ///< of a phase, if there are several
  const ConvolutionShape &shape_;
  const IsaKernels &kernels_;
  int64_t lanes_;
  const BlockedTensor &out_;
  int64_t phases_[2]; ///< rows and columns of outputs from one to the next
  int64_t phase_[2];  ///< the first
  const float *weights_;
  ConvolutionSource source_;
  int64_t rows_ = 0, width_ = 0; ///< of the output; one row of all pixels where nothing lies between rows
  int64_t blocks_ = 0;           ///< of input channels that a panel reads
  int64_t imageBlocks_ = 0;      ///< of one image
  Taps taps_;                    ///< entries of offsets_ for each block
  int64_t tapsPerBlock_ = 0;
  int64_t depth_ = 0; ///< of an entry of offsets_
  int64_t chunks_ = 1;
  const int64_t *offsets_[2] = {}; ///< of groups that begin with a block, and by half of one
  Panels panels_;
  PanelBlocks inputs_;        ///< that panels read
  bool sharesBlocks_ = false; ///< of outputs: groups end within one
};

} // namespace torchere::cpu
