// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {CommissionEscrow} from "../../src/CommissionEscrow.sol";
import {ReviewRegistry} from "../../src/ReviewRegistry.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {EscrowTest} from "../base/EscrowTest.sol";

contract PublishWithEscrowTest is EscrowTest {
    bytes32 private constant CONTENT = keccak256("content");

    CommissionEscrow.Terms private terms;

    function setUp() public override {
        super.setUp();
        terms = buy();
    }

    /// [CHAIN-10]
    function test_succeeds_whenTheBuyerPublishes() public {
        vm.expectEmit(address(reviews));
        emit ReviewRegistry.ReviewPublished(
            2, buyerAgentId, merchantId, PRODUCT, CONTENT, ReviewRegistry.ProofKind.Escrow, terms.escrowId
        );
        assertEq(publish(buyer.addr), 2);
        assertEq(reviews.lastReviewId(), 2);
        assertEq(reviews.reviewOfEscrow(address(escrow), terms.escrowId), 2);
        ReviewRegistry.Review memory review = reviews.getReview(2);
        assertEq(review.agentId, buyerAgentId);
        assertEq(review.merchantId, merchantId);
        assertEq(review.productId, PRODUCT);
        assertEq(review.contentHash, CONTENT);
        assertEq(review.publishedAt, block.timestamp);
        assertEq(review.editedAt, 0);
        assertEq(uint256(review.proofKind), uint256(ReviewRegistry.ProofKind.Escrow));
        (uint256 authorId, uint256 about) = reviews.authorOf(2);
        assertEq(authorId, buyerAgentId);
        assertEq(about, merchantId);
    }

    function test_succeeds_whenTheEscrowIsSettled() public {
        vm.warp(terms.windowEnd);
        settleEscrow(terms, false, false);
        assertEq(publish(buyer.addr), 2);
    }

    function test_succeeds_whenAWalletBoundItsAgent() public {
        terms = buyAgentless();
        uint256 agentId = registerIdentity(walletBuyer.addr);
        vm.prank(walletBuyer.addr);
        escrow.bind(terms, agentId);
        terms.buyerAgentId = agentId;
        assertEq(reviews.getReview(publish(walletBuyer.addr)).agentId, agentId);
    }

    function test_succeeds_whenASecondEscrowProvesASecondReview() public {
        publish(buyer.addr);
        terms = buy();
        assertEq(publish(buyer.addr), 3);
    }

    /// @dev A successor counts from 1 again; its first escrow is not the old one's.
    function test_succeeds_whenTheEscrowWasReplaced() public {
        publish(buyer.addr);
        CommissionEscrow successor = replaceEscrow();
        vm.prank(buyer.addr);
        assertEq(reviews.publishWithEscrow(successor, terms, CONTENT), 3);
    }

    function test_reverts_whenTheEscrowProvedAReviewBefore() public {
        publish(buyer.addr);
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.ProofAlreadyUsed.selector, terms.escrowId, 2));
        publish(buyer.addr);
    }

    function test_reverts_whenTheCallerDoesNotOwnTheAgent() public {
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.NotAgentOwner.selector, stranger, buyerAgentId));
        publish(stranger);
    }

    function test_reverts_whenNoAgentIsBound() public {
        terms = buyAgentless();
        vm.expectRevert(
            abi.encodeWithSelector(ReviewRegistry.NotAgentOwner.selector, walletBuyer.addr, type(uint256).max)
        );
        publish(walletBuyer.addr);
    }

    function test_reverts_whenTheTermsAreAltered() public {
        CommissionEscrow.Terms memory present = terms;
        for (uint256 field = 0; field < ALTERABLE_FIELDS; ++field) {
            terms = altered(present, field);
            vm.expectRevert(termsMismatch(terms));
            publish(buyer.addr);
        }
    }

    function test_reverts_whenThereIsNoSuchEscrow() public {
        terms.nonce = keccak256("altered");
        vm.expectRevert(abi.encodeWithSelector(ICommissionEscrowErrors.NoEscrow.selector, terms.escrowId));
        publish(buyer.addr);
    }

    function test_reverts_whenTheContractIsNoEscrowOfTheProtocol() public {
        bytes memory args = abi.encode(admin, ADMIN_DELAY, addresses, identities, usdc, 60 days, 10 days);
        CommissionEscrow foreign = CommissionEscrow(deploy("CommissionEscrow.sol:CommissionEscrow", args));
        vm.expectRevert(abi.encodeWithSelector(ReviewRegistry.UnknownEscrow.selector, address(foreign)));
        vm.prank(buyer.addr);
        reviews.publishWithEscrow(foreign, terms, CONTENT);
    }

    /// @dev What was bought before a replacement can still be reviewed after it.
    function test_succeeds_whenThePurchaseLiesInAReplacedEscrow() public {
        CommissionEscrow.Terms memory earlier = terms;
        replaceEscrow();
        terms = earlier;
        assertEq(publish(buyer.addr), 2);
        assertEq(reviews.reviewOfEscrow(address(escrow), terms.escrowId), 2);
    }

    function publish(address caller) private returns (uint256) {
        vm.prank(caller);
        return reviews.publishWithEscrow(escrow, terms, CONTENT);
    }

    /// @dev Leaves in `terms` the first escrow of a new escrow contract.
    function replaceEscrow() private returns (CommissionEscrow successor) {
        bytes memory args = abi.encode(admin, ADMIN_DELAY, addresses, identities, usdc, 60 days, 10 days);
        successor = CommissionEscrow(deploy("CommissionEscrow.sol:CommissionEscrow", args));
        bytes32 role = successor.DEPOSITOR_ROLE();
        vm.startPrank(admin);
        successor.grantRole(role, admin);
        usdc.mint(address(successor), HELD_BACK + CASHBACK);
        assertEq(successor.deposit(terms, PRICE, COMMISSION, 0), 1);
        addresses.setAddress(keccak256("COMMISSION_ESCROW"), address(successor));
        vm.stopPrank();
        assertEq(terms.escrowId, 1);
    }
}
