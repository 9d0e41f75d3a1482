// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {MarketTest} from "../base/MarketTest.sol";

contract EditContentTest is MarketTest {
    bytes32 private constant BEFORE = keccak256("before");
    bytes32 private constant AFTER = keccak256("after");

    uint256 private buyerReviewId;
    uint256 private publishedAt;

    function setUp() public override {
        super.setUp();
        CommissionEscrow.Terms memory terms = buy();
        vm.prank(buyer.addr);
        buyerReviewId = reviews.publishWithEscrow(escrow, terms, BEFORE);
        publishedAt = block.timestamp;
    }

    /// [CHAIN-11] [CHAIN-26]
    function test_succeeds_onTheSixthDay() public {
        vm.warp(publishedAt + 6 days);
        vm.expectEmit(address(reviews));
        emit ReviewRegistry.ReviewContentEdited(buyerReviewId, buyerAgentId, BEFORE, AFTER, publishedAt + 6 days);
        edit(buyer.addr, AFTER);
        ReviewRegistry.Review memory review = reviews.getReview(buyerReviewId);
        assertEq(review.contentHash, AFTER);
        assertEq(review.editedAt, publishedAt + 6 days);
        assertEq(review.publishedAt, publishedAt);
    }

    /// [CHAIN-26]
    function test_succeeds_atExactlySevenDays() public {
        vm.warp(publishedAt + 7 days);
        edit(buyer.addr, AFTER);
        assertEq(reviews.getReview(buyerReviewId).contentHash, AFTER);
    }

    /// [CHAIN-27]
    function test_reverts_aSecondAfterSevenDays() public {
        vm.warp(publishedAt + 7 days + 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                ReviewRegistry.EditWindowClosed.selector, publishedAt + 7 days, publishedAt + 7 days + 1
            )
        );
        edit(buyer.addr, AFTER);
    }

    /// [CHAIN-27]
    function test_reverts_whenAnEarlierEditWouldExtendTheWindow() public {
        vm.warp(publishedAt + 6 days);
        edit(buyer.addr, AFTER);
        vm.warp(publishedAt + 8 days);
        vm.expectRevert(
            abi.encodeWithSelector(
                ReviewRegistry.EditWindowClosed.selector, publishedAt + 7 days, publishedAt + 8 days
            )
        );
        edit(buyer.addr, BEFORE);
    }

    function test_succeeds_whenEditedAgain() public {
        edit(buyer.addr, AFTER);
        edit(buyer.addr, BEFORE);
        assertEq(reviews.getReview(buyerReviewId).contentHash, BEFORE);
    }

    /// [CHAIN-28]
    function test_reverts_whenTheReviewHasNoEscrow() public {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.NotAnEscrowReview.selector, reviewId));
        vm.prank(reviewer.addr);
        reviews.editContent(reviewId, AFTER);
    }

    /// [CHAIN-29]
    function test_reverts_whenTheContentIsUnchanged() public {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.ContentUnchanged.selector, BEFORE));
        edit(buyer.addr, BEFORE);
    }

    /// [CHAIN-30]
    function test_reverts_whenTheCallerDoesNotOwnTheAgent() public {
        expectNotOwner(stranger);
        edit(stranger, AFTER);
        expectNotOwner(publisher);
        edit(publisher, AFTER);
    }

    /// [CHAIN-30]
    function test_reverts_whenTheAgentChangedHands() public {
        transferIdentity(buyer.addr, stranger, buyerAgentId);
        expectNotOwner(buyer.addr);
        edit(buyer.addr, AFTER);
        edit(stranger, AFTER);
    }

    function test_reverts_whenThereIsNoSuchReview() public {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.ReviewNotFound.selector, 404));
        reviews.editContent(404, AFTER);
    }

    function edit(address caller, bytes32 contentHash) private {
        vm.prank(caller);
        reviews.editContent(buyerReviewId, contentHash);
    }

    function expectNotOwner(address caller) private {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.NotAgentOwner.selector, caller, buyerAgentId));
    }
}
